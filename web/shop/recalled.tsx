import type { Product } from './api.ts'
import { Notice } from '../ui/notice.tsx'

/** What was sold and nobody can have any more, for who sold it. */
export const RecalledFromSale = ({ files }: { files: Product['withdrawnFiles'] }) =>
  files?.map(({ id, name, reason }) => (
    <Notice key={id} tone="alarm" title={`${name} was recalled by the operator of this service.`}>
      <p>
        Nobody can download it any more, and the same bytes are not taken again. Who has paid for it is told by mail
        why: “{reason}” A file that you add in its place is theirs too.
      </p>
    </Notice>
  ))
