import { Refusal } from '../ui/refusal.tsx'

/** Also after a reload: until the answer arrives, the form sends no other request. */
export const Unanswered = ({ what, amount }: { what: 'refund' | 'adjustment'; amount: string }) => (
  <Refusal title={`We do not know whether the ${what} of ${amount} was made.`}>
    <p>The answer got lost on the way. Asking again is safe: it is the same {what}, and it is never made twice.</p>
  </Refusal>
)
