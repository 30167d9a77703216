import { Notice } from '../ui/notice.tsx'
import { Progress, type Step } from '../ui/progress.tsx'
import { sentence } from '../ui/words.ts'
import type { StepProps } from './step-props.ts'
import { useElapsed } from './elapsed.ts'
import { OrderLink } from './order-link.tsx'

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
      <h2 tabIndex={-1}>
        {atBank ? 'Your bank is processing the payment' : lost ? 'Checking with your bank' : 'Confirming your payment'}
      </h2>
      <p class="soft">
        {atBank
          ? 'Your bank tells us when it is done.'
          : lost
            ? 'We are finding out what happened to your payment. Please do not pay again.'
            : long
              ? 'This is taking unusually long. You don’t need to do anything, and you won’t be charged again.'
              : waited > LONGER_MS
                ? 'Your bank is taking a little longer than usual. You don’t need to do anything.'
                : 'This usually takes a few seconds.'}
      </p>
      <Progress
        steps={[
          ['Order created', 'done', order?.createdAt],
          ...(approved
            ? ([
                ['Bank approved', 'done'],
                ['Confirming the payment', 'now'],
              ] as Step[])
            : ([
                ['Waiting for the bank', 'now', order?.timeline?.findLast(({ what }) => what === WORKING)?.at],
                ['Payment confirmed', 'open'],
              ] as Step[])),
          ['Files ready', 'open'],
        ]}
      />
      {(atBank || long) && (
        <Notice icon="mail" title="You can close this page.">
          <p>
            The receipt with your files goes to <b>{kept?.email}</b> as soon as the payment is confirmed.
          </p>
        </Notice>
      )}
      {trouble ? (
        <Notice tone="alarm" title={sentence(trouble)} role="alert">
          <button type="button" class="link" onClick={() => void checkout.check()}>
            Check now
          </button>
        </Notice>
      ) : null}
      <OrderLink kept={kept} />
    </div>
  )
}
