import type { OrderStatus } from './api.ts'
import { Notice } from './notice.tsx'

/** Tells the buyer about files that the operator has recalled and why, because a copy may still be on a disk. */
export const RecalledFiles = ({ files }: { files: OrderStatus['withdrawnFiles'] }) =>
  files?.map(({ id, name, reason }) => (
    <Notice key={id} tone="alarm" title={`${name} was recalled.`}>
      <p>
        It can no longer be downloaded. The reason: “{reason}” If you have a copy, do not open it unless the reason says
        you may. A file that the seller adds in its place appears here by itself.
      </p>
    </Notice>
  ))
