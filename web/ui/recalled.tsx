import type { OrderStatus } from './api.ts'
import { Notice } from './notice.tsx'

/** What a buyer had and nobody can have any more, and why: a copy of it may still lie on a disk. */
export const RecalledFiles = ({ files }: { files: OrderStatus['withdrawnFiles'] }) =>
  files?.map(({ id, name, reason }) => (
    <Notice key={id} tone="alarm" title={`${name} was withdrawn.`}>
      <p>
        Nobody can download it any more. This is why: “{reason}” If you have a copy, do not open it unless that says you
        may. What the seller adds in its place appears here by itself.
      </p>
    </Notice>
  ))
