import { day, money } from '../../ui/format.ts'
import { LOCALE } from '../../ui/language.ts'
import type { Next, NextPayouts, Payout } from './payouts-api.ts'

type Tag = [label: string, tone: 'good' | 'quiet' | 'bad']

const PAYOUT_STATES: Record<Payout['status'], Tag> = {
  approved: ['Approved', 'quiet'],
  sent: ['On its way', 'quiet'],
  paid: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  reversed: ['Came back', 'bad'],
}

/** How a payout stands: the label of its tag, and its tone. */
export const payoutTag = ({ status, cancelled }: Pick<Payout, 'status' | 'cancelled'>): Tag =>
  cancelled ? ['Cancelled', 'quiet'] : PAYOUT_STATES[status]

/** The state in a sentence, with advice for the seller. */
export function payoutSentence({ by, status, sentAt, paidAt, endedAt, failure, cancelled }: Payout): string {
  if (cancelled)
    return `It was cancelled at the processor${endedAt ? ` on ${day(endedAt)}` : ''}. The money is back in your balance there.`
  const why = failure ? ` The bank said: “${failure}”.` : ''
  const isOwn = by !== 'manual'
  const again = isOwn
    ? 'The money is back in your account at the processor. Check your bank account there.'
    : 'The money is back in your balance. If you still use that account, check your payout details and save them again: until then no payout goes to it.'
  return {
    approved: isOwn ? 'The processor sends it next.' : 'Approved. The operator sends it to the bank next.',
    sent: `Sent to the bank${sentAt ? ` on ${day(sentAt)}` : ''}. It usually arrives within three working days.`,
    paid: `Paid${paidAt ? (isOwn ? ` on ${day(paidAt)}` : `: the bank confirmed it on ${day(paidAt)}`) : ''}.`,
    failed:
      !isOwn && !sentAt
        ? `The operator has not sent it.${failure ? ` The operator said: “${failure}”.` : ''} The money is in your balance again, for your next payout.`
        : `The bank refused it${endedAt ? ` on ${day(endedAt)}` : ''}.${why} ${again}`,
    reversed: `It came back${endedAt ? ` on ${day(endedAt)}` : ''}.${why} ${again}`,
  }[status]
}

/** A day of UTC, such as 2026-11-30, as the reader writes it. Told in UTC, so that no time zone moves it to another day. */
export const calendarDay = (on: string): string =>
  new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(on))

/** The next payout, or the reason for none: a title, and a text that helps. */
export function nextWords(next: Next, { runOn, schedule, holdDays }: NextPayouts): { title: string; text: string } {
  const { currency, expected, minimum, blocked, payableFrom } = next
  const when = calendarDay(runOn)
  const amount = money(expected, currency)
  switch (blocked) {
    case null:
      return {
        title: `${amount} around ${when}`,
        text: `Payouts go out ${schedule}, after the operator has approved them.`,
      }
    case 'negative_balance':
      return {
        title: 'No payout',
        text: 'The amount that can be paid out is below zero, as after a refund of something that was paid out already. Pending and later sales make up for it.',
      }
    case 'nothing_available':
      return {
        title: `Nothing to pay on ${when}`,
        text: holdDays > 0 ? `Money becomes available ${holdDays} days after a sale.` : 'Nothing is available yet.',
      }
    case 'below_minimum':
      return { title: 'Below the smallest payout', text: `The smallest payout is ${money(minimum, currency)}. Your money waits until you reach it.` } // oxfmt-ignore
    case 'no_details':
      return { title: `${amount} has nowhere to go`, text: `Add the account that your ${currency} should go to. The first payout after that includes it.` } // oxfmt-ignore
    case 'details_changed':
      return { title: `Held until ${payableFrom ? day(payableFrom) : when}`, text: 'Your payout details are new. Payouts wait 72 hours after a change, so that you notice in time if somebody else redirects your money.' } // oxfmt-ignore
    case 'account_refused':
      return { title: 'Held: the last payout came back', text: `Check the account that your ${currency} goes to, and save it again, corrected if it was wrong.` } // oxfmt-ignore
    case 'suspended':
      return { title: 'Held: your shop is suspended', text: 'Ask the operator of this service what to do.' }
    case 'awaiting_approval':
      return { title: 'Held: your shop awaits its approval', text: 'The first payout follows the approval.' }
  }
}
