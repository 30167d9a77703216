import type { OrderStatus } from './api.ts'
import { Notice } from './notice.tsx'
import { say, wordsOf } from './language.ts'

const words = wordsOf('ui')

/** Tells the buyer about files that the operator has recalled and why, because a copy may still be on a disk. */
export const RecalledFiles = ({ files }: { files: OrderStatus['withdrawnFiles'] }) =>
  files?.map(({ id, name, reason }) => (
    <Notice key={id} tone="alarm" title={say(words.recalled, { name })}>
      <p>{say(words.recalledText, { reason })}</p>
    </Notice>
  ))
