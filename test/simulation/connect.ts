import type { StripeBank } from '../stand-ins/stripe-bank.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

// Steps at the sellers' own accounts at Stripe. The buyers, banks and persons at dashboards of the other steps are there too.

/** Stripe decides about an account, and does not always tell. */
export function changeAccount(run: Run, random: Random): string | undefined {
  const { connect } = run.world.stripe
  const account = random.pickAny(connect.accounts)
  if (!account) return undefined
  const standing = random.weighted({ active: 6, 'in review': 1, restricted: 2, 'payouts off': 1, rejected: 0.3 })
  const silently = random.chance(0.2)
  connect.stand(account['id'], standing, { silently })
  return `an account is ${standing}${silently ? ', and nobody is told' : ''}`
}

/** The seller takes back our access to the account, or gives it again. */
export async function changeAccess(run: Run, random: Random): Promise<string | undefined> {
  const { stripe, account } = run.world
  const id = await account.id()
  if (id !== undefined && random.chance(0.5)) {
    stripe.connect.revoke(id)
    run.lostAccounts.add(`stripe@${id}`)
    return 'the seller ends our access'
  }
  for (const one of stripe.connect.accounts) stripe.connect.restore(one['id'])
  return 'all accounts give us access'
}

/** In two tabs at times: the seller gets one account. */
export async function openAccount(run: Run, random: Random): Promise<string> {
  const { stripe, account } = run.world
  const answers = await Promise.all(Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => account.open()))
  for (const answer of answers) run.note('an account', answer, [200, 409])
  const id = await account.id()
  const fills = id !== undefined && random.chance(0.8)
  if (fills) stripe.connect.stand(id, 'active')
  return `the seller asks for an account (${answers.map(({ status }) => status).join(', ')})${fills ? ', and fills it in' : ''}`
}

/** The money of an account's balance in a currency goes to the seller's bank. */
export function payOut(run: Run, random: Random): string | undefined {
  const full = run.world.stripe.connect
    .banks()
    .flatMap((bank) =>
      [...balances(bank)].filter(([, net]) => net > 0).map(([currency, net]) => ({ bank, currency, net })),
    )
  const one = random.pickAny(full)
  if (!one) return undefined
  one.bank.payOut(one.currency)
  return `Stripe pays out ${one.net} ${one.currency}`
}

export function balances({ balanceTransactions }: StripeBank): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { payout, currency, net } of balanceTransactions)
    if (payout === null) sums.set(currency, (sums.get(currency) ?? 0) + net)
  return sums
}

/** The seller's bank has a payout, or sends it back, also after it seemed to be paid. */
export function endPayout(run: Run, random: Random): string | undefined {
  const open = run.world.stripe.connect
    .banks()
    .flatMap((bank) => bank.payouts.filter(({ status }) => status !== 'failed').map((payout) => ({ bank, payout })))
  // the newest ones: older histories have left theirs
  const one = random.pickAny(open.slice(-4))
  if (!one) return undefined
  const was = String(one.payout['status'])
  const end = was === 'paid' || random.chance(0.4) ? 'failed' : 'paid'
  one.bank.endPayout(one.payout['id'], end)
  return `a payout of Stripe that was ${was} is ${end}`
}

/** The account has payments that are not ours. */
export function moveElsewhere(run: Run, random: Random): string | undefined {
  const bank = random.pickAny(run.world.stripe.connect.banks())
  if (!bank) return undefined
  bank.move('ch_elsewhere', 'charge', random.pick([500, 1234]), 'usd', 20)
  return 'the account has a payment from elsewhere'
}

/** Our own job: reads how the accounts stand, and their payouts. */
export async function readAccounts(run: Run, random: Random): Promise<string> {
  const times = random.chance(0.3) ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => run.world.account.read()))
  return `the service reads all accounts${times > 1 ? ', twice at once' : ''}`
}
