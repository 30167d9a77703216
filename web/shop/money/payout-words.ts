import { day, money } from '../../ui/format.ts'
import type { Next, NextPayouts, Payout } from './payouts-api.ts'

/** How a payout stands: the label of its tag, and its tone. */
export const PAYOUT_STATES: Record<Payout['status'], [label: string, tone: 'good' | 'quiet' | 'bad']> = {
  approved: ['Approved', 'quiet'],
  sent: ['On its way', 'quiet'],
  paid: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  reversed: ['Came back', 'bad'],
}

/** The state in a sentence, with what the seller can do. */
export function payoutSentence({ status, sentAt, paidAt, endedAt, failure }: Payout): string {
  const why = failure ? ` The bank said: “${failure}”.` : ''
  const again = 'The money is in your balance again. Check your payout details; the next payout sends it.'
  return {
    approved: 'The operator has approved it and gives it to the bank next.',
    sent: `The operator gave it to the bank${sentAt ? ` on ${day(sentAt)}` : ''}. It usually arrives within three working days.`,
    paid: `Your bank has it${paidAt ? `: confirmed on ${day(paidAt)}` : ''}.`,
    failed: `The bank refused it${endedAt ? ` on ${day(endedAt)}` : ''}.${why} ${again}`,
    reversed: `It came back${endedAt ? ` on ${day(endedAt)}` : ''}.${why} ${again}`,
  }[status]
}

/** A day of UTC, such as 2026-11-30, as the reader writes it. It is noon there, so that no time zone moves it to another day. */
export const calendarDay = (on: string): string => day(`${on}T12:00:00Z`)

/** What the next payout is, or why there is none: a title, and what helps. */
export function nextWords(next: Next, { runOn, schedule }: NextPayouts): { title: string; text: string } {
  const { currency, expected, minimum, blocked, payableFrom } = next
  const when = calendarDay(runOn)
  const amount = money(expected, currency)
  switch (blocked) {
    case null:
      return { title: `${amount} around ${when}`, text: `The operator pays ${schedule}, and approves each payout.` }
    case 'negative_balance':
      return {
        title: 'No payout',
        text: 'The balance is below zero, as after a refund of something that was paid out already.',
      }
    case 'nothing_available':
      return { title: `Nothing to pay on ${when}`, text: 'Money is paid out when its holding period has ended.' }
    case 'below_minimum':
      return { title: 'Below the smallest payout', text: `Payouts begin at ${money(minimum, currency)}. Your money waits until there is that much.` } // oxfmt-ignore
    case 'no_details':
      return { title: `${amount} has nowhere to go`, text: `Enter where your money in ${currency} goes. A payout follows on the next day of payouts after that.` } // oxfmt-ignore
    case 'details_changed':
      return { title: `Held until ${payableFrom ? day(payableFrom) : when}`, text: 'Your payout details are new. Payouts wait 72 hours after a change, so that nobody else can take your money unnoticed.' } // oxfmt-ignore
    case 'suspended':
      return { title: 'Held: your shop is suspended', text: 'Ask the operator of this service what to do.' }
    case 'awaiting_approval':
      return { title: 'Held: your shop awaits its approval', text: 'The first payout follows the approval.' }
  }
}
