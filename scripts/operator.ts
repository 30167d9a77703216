// npm run operator -- COMMAND …    takes an operator's actions of /operator/ on the machine; the log names the machine
// Ends with 0: done, also if it was so before; 1: refused; 2: it could not be done.
import { readFileSync } from 'node:fs'
import { type Db, connect } from '../src/kit/database.ts'
import { Refusal } from '../src/kit/errors.ts'
import { type Jobs, startJobs } from '../src/kit/jobs.ts'
import { newLog } from '../src/kit/log.ts'
import { formatMoney } from '../src/kit/money.ts'
import { MACHINE, readLog } from '../src/operator/log.ts'
import { mattersOf } from '../src/operator/matters.ts'
import { acceptOrder, refundAsOperator, resendReceipt, searchOrders, sendOrderBack } from '../src/operator/orders.ts'
import { recallAsOperator } from '../src/operator/recall.ts'
import * as sellers from '../src/operator/sellers.ts'
import { loadRatesAsOperator } from '../src/operator/tax-rates.ts'
import { listRates, readRates } from '../src/taxes/rates.ts'
import { sellsOnTrial } from '../src/processors/settings.ts'
import { type CommandCall, type Commands, runCommand } from './run-command.ts'

const USAGE = `npm run operator -- COMMAND, where COMMAND is one of
  attention                     what needs a person
  sellers [TEXT]                the newest sellers, or those whose id, address or name begins so
  approve SELLER                lets a seller sell; SELLER is an id or an address
  end-approval SELLER
  suspend SELLER                stops the sales
  resume SELLER
  quota SELLER BYTES|default    how much a seller may store; 0 is no limit
  sign-out SELLER               ends all sessions
  orders TEXT                   finds orders by id, address, or the processor's id of a payment
  accept ORDER [CAPTURE]        takes what the buyer paid as the price
  send-back ORDER               sends back what the buyer paid
  refund ORDER [AMOUNT]         refunds all that is left, or an amount in minor units
  receipt ORDER                 mails the receipt again
  recall FILE REASON            recalls a file for good; its buyers read the reason
  tax-rates load FILE           replaces the tax rates by those of a CSV, see docs/tax.md
  tax-rates show                the loaded rates, in the same form
  log [SUBJECT]                 what operators have done, newest first`
const MOST_SHOWN = 100

interface Parts {
  config: CommandCall['config']
  db: Db
  jobs: Jobs
}
type Command = (parts: Parts, first: string, second: string | undefined) => Promise<string[]>

const page = { after: undefined, limit: MOST_SHOWN }
const changed = (is: boolean) => [is ? 'Done.' : 'It was so before.']
const aboutSeller =
  (run: sellers.SellerAction): Command =>
  async ({ db, jobs }, seller) =>
    changed(await run(db, jobs, MACHINE, await sellers.sellerIdOf(db, seller)))

const COMMANDS: Commands<Command> = {
  attention: [
    0,
    0,
    async ({ config, db }) =>
      (await mattersOf(db, { isOnTrial: sellsOnTrial(config) })).map(({ says, advice }) => `${says} → ${advice}`),
  ],
  sellers: [0, 1, async ({ db }, text) => (await sellers.searchSellers(db, { q: text }, page)).map(sellerLine)],
  approve: [1, 1, aboutSeller(sellers.approveSeller)],
  'end-approval': [1, 1, aboutSeller(sellers.endApproval)],
  suspend: [1, 1, aboutSeller(sellers.suspendSeller)],
  resume: [1, 1, aboutSeller(sellers.resumeSeller)],
  'sign-out': [1, 1, aboutSeller(sellers.endSellerSessions)],
  quota: [2, 2, setQuota],
  orders: [1, 1, async ({ db }, q) => (await searchOrders(db, { q }, page)).map(orderLine)],
  accept: [1, 2, accept],
  'send-back': [1, 1, sendBack],
  refund: [1, 2, refund],
  receipt: [1, 1, async ({ db, jobs }, orderId) => (await resendReceipt(db, jobs, MACHINE, orderId), ['Done.'])],
  recall: [2, 2, recall],
  'tax-rates': [1, 2, taxRates],
  log: [0, 1, showLog],
}

await runCommand(COMMANDS, USAGE, run)

async function run(work: Command, { config, url, given }: CommandCall): Promise<string[]> {
  const { db, close } = connect({ connectionString: url }, { connections: 2 })
  const jobs = await startJobs({ connectionString: url }, newLog('silent'))
  try {
    return await work({ config, db, jobs }, given[0] ?? '', given[1])
  } finally {
    await jobs.stop()
    await close()
  }
}

function sellerLine({ id, name: shop, email, products, ...seller }: sellers.FoundSeller): string {
  const { standing, lockedOutAt, awaitsAccount } = seller
  const shown = lockedOutAt ? 'locked_out' : standing === 'active' && awaitsAccount ? 'awaits_account' : standing
  return `${id}  ${shown.padEnd(17)}  ${email}  ${shop}, ${products} ${products === 1 ? 'product' : 'products'}`
}

function orderLine({
  id,
  state,
  email,
  amountMinor,
  currency,
  sellerName,
}: Awaited<ReturnType<typeof searchOrders>>[number]): string {
  return `${id}  ${state.padEnd(18)}  ${formatMoney(amountMinor, currency)}  ${email}  ${sellerName}`
}

async function setQuota({ db }: { db: Db }, seller: string, bytes = ''): Promise<string[]> {
  const quota = bytes === 'default' ? null : Number(bytes)
  const isRight = quota === null || (/^\d{1,15}$/.test(bytes) && Number.isSafeInteger(quota))
  if (!isRight) throw new Refusal('validation_failed', 'BYTES is a whole number up to 15 digits, or default.')
  return changed(await sellers.setQuota(db, MACHINE, await sellers.sellerIdOf(db, seller), quota))
}

async function accept({ db, jobs }: { db: Db; jobs: Jobs }, orderId: string, captureId?: string): Promise<string[]> {
  const { amountMinor, currency } = await acceptOrder(db, jobs, MACHINE, { orderId, captureId })
  return [`The order is paid with ${formatMoney(amountMinor, currency)}.`]
}

async function sendBack({ db, jobs }: { db: Db; jobs: Jobs }, orderId: string): Promise<string[]> {
  const returns = await sendOrderBack(db, jobs, MACHINE, orderId)
  return returns.map(({ amountMinor, currency }) => `${formatMoney(amountMinor, currency)} goes back.`)
}

async function refund({ db, jobs }: { db: Db; jobs: Jobs }, orderId: string, amount?: string): Promise<string[]> {
  if (amount !== undefined && !/^[1-9]\d{0,11}$/.test(amount))
    throw new Refusal('validation_failed', 'AMOUNT is in minor units of the order’s currency, such as 500 for $5.00.')
  const made = await refundAsOperator(db, jobs, MACHINE, {
    orderId,
    amountMinor: amount === undefined ? undefined : Number(amount),
  })
  return [`${formatMoney(made.amountMinor, made.currency)} goes back (${made.id}).`]
}

async function recall({ db }: { db: Db }, fileId: string, reason = ''): Promise<string[]> {
  const { name: file, productName, already, elsewhere } = await recallAsOperator(db, MACHINE, { fileId, reason })
  const others = elsewhere.map((one) => `Not recalled, of another seller: ${one.fileId}, ${one.productName}`)
  return [`${already ? 'Recalled before' : 'Recalled'}: ${file} of ${productName}`, ...others]
}

async function taxRates({ db }: { db: Db }, what: string, file?: string): Promise<string[]> {
  if (what === 'show' && file === undefined) {
    const rates = await listRates(db)
    return [
      'country,category,rate,valid_from,valid_to',
      ...rates.map((one) => [one.country, one.category, one.rate, one.validFrom, one.validTo ?? ''].join(',')),
    ]
  }
  if (what !== 'load' || file === undefined) throw new Refusal('validation_failed', 'It is: tax-rates load FILE, or tax-rates show.') // oxfmt-ignore
  const { rates, countries, missing } = await loadRatesAsOperator(
    db,
    MACHINE,
    await readRates(readFileSync(file, 'utf8')),
  )
  return [
    `${rates} rates of ${countries} countries are loaded, instead of all before. Orders made before keep theirs.`,
    ...missing.map((one) => `Missing, and needed by ${one.sellers}: ${one.country} ${one.category}`),
  ]
}

async function showLog({ db }: { db: Db }, subject: string): Promise<string[]> {
  const rows = await readLog(db, { subject: subject || undefined }, page)
  return rows.map(
    ({ at, actor, action, subject: about, detail }) =>
      `${at.toISOString()}  ${actor}  ${action}  ${about}  ${JSON.stringify(detail)}`,
  )
}
