import { ApiError } from '../ui/api.ts'
import { explain, type Said } from '../ui/auth-words.ts'

/** Everything that the page says. */
export const WORDS = {
  title: 'Withdraw from contract',
  lead: 'Here you state that you withdraw from a contract you made with a seller. You need no account and give no reason. You get an acknowledgement by e-mail.',
  name: 'Your name',
  contract: 'Order number, or what you bought and when',
  contractHint: 'The order number is in your receipt and begins with ord_.',
  email: 'E-mail for the acknowledgement',
  emailHint: 'Best the address you bought with.',
  begin: 'Withdraw from contract here',
  noName: 'Please enter your name.',
  noContract: 'Please say which contract it is.',
  checkTitle: 'Confirm your withdrawal',
  checkLead: 'This is your statement. It takes effect when you confirm it.',
  statement: 'I withdraw from the contract named here.',
  confirm: 'Confirm withdrawal',
  confirming: 'Sending your statement…',
  change: 'Change it',
  doneTitle: 'Your statement has arrived',
  doneLead: 'An acknowledgement with its content and time is on its way to',
  doneText:
    'It says that your statement arrived, not whether you have a right to withdraw. The seller answers you. If you do not hear from the seller, answer to your receipt.',
  received: 'Received',
  reference: 'Reference',
} as const

/** What went wrong, and the way on. */
export function explainWithdrawal(trouble: unknown): Said {
  if (trouble instanceof ApiError && trouble.code === 'idempotency_key_reused')
    return { title: 'This statement was sent before with other words.', text: 'Go back, and send it once more.' }
  if (trouble instanceof ApiError && trouble.code === 'rate_limited')
    return { title: 'Too many statements came from here.', text: trouble.message }
  return explain(trouble)
}
