import type { Product } from './api.ts'
import { Notice } from '../ui/notice.tsx'

/** Tells the seller about files that the operator has recalled. */
export const RecalledFromSale = ({ files }: { files: Product['withdrawnFiles'] }) =>
  files?.map(({ id, name, reason }) => (
    <Notice key={id} tone="alarm" title={`${name} was recalled by the operator of this service.`}>
      <p>
        It can no longer be downloaded, and the same file is refused from now on. Your buyers get a mail with the
        reason: “{reason}” They also get any file that you add in its place.
      </p>
    </Notice>
  ))
