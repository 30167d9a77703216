import { Notice } from '../ui/notice.tsx'
import { Progress, type Step } from '../ui/progress.tsx'
import { sentence } from '../ui/words.ts'
import type { StepProps } from './step-props.ts'
import { useElapsed } from './elapsed.ts'
import { OrderLink } from './order-link.tsx'
import { saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

const LONGER_MS = 10_000
const LONG_MS = 40_000
const WORKING = 'payment_processing'

/**
 * The money may be on its way, so no button here can take it twice. The text is calm first and says more only with
 * time.
 */
export function Waiting({ checkout, state }: StepProps) {
  const { order, kept, trouble, busy } = state
  const attempt = kept?.attempt
  const atBank = order?.status === 'processing' || attempt?.answer === 'processing'
  const approved = attempt?.answer === 'captured' && order?.status !== 'processing'
  const lost = !atBank && (!attempt?.answer || attempt.answer === 'left') && !busy
  const waited = useElapsed(attempt?.sentAt)
  const long = waited > LONG_MS
  return (
    <div class="stack">
      <h2 tabIndex={-1}>{atBank ? words.atBank : lost ? words.asking : words.confirmingTitle}</h2>
      <p class="soft">
        {atBank
          ? words.atBankText
          : lost
            ? words.askingText
            : long
              ? words.veryLong
              : waited > LONGER_MS
                ? words.longer
                : words.fewSeconds}
      </p>
      <Progress
        steps={[
          [shared.orderCreated, 'done', order?.createdAt],
          ...(approved
            ? ([
                [shared.bankApproved, 'done'],
                [shared.confirmingPayment, 'now'],
              ] as Step[])
            : ([
                [shared.waitingForBank, 'now', order?.timeline?.findLast(({ what }) => what === WORKING)?.at],
                [shared.paymentConfirmed, 'open'],
              ] as Step[])),
          [shared.filesReady, 'open'],
        ]}
      />
      {(atBank || long) && (
        <Notice icon="mail" title={words.canClose}>
          <p>{saying(words.canCloseText, { email: <b>{kept?.email}</b> })}</p>
        </Notice>
      )}
      {trouble ? (
        <Notice tone="alarm" title={sentence(trouble)} role="alert">
          <button type="button" class="link" onClick={() => void checkout.check()}>
            {words.checkNow}
          </button>
        </Notice>
      ) : null}
      <OrderLink kept={kept} />
    </div>
  )
}
