import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { measureBackup } from './backup.ts'
import { measureCheckout } from './checkout.ts'
import { measureEqualTimes } from './equal-times.ts'
import { measureFiles } from './files.ts'
import { fillOrders, openShop } from './fill.ts'
import { SELLERS, fillSellers } from './fill-sellers.ts'
import { measureKeys } from './keys.ts'
import { measureMail } from './mail.ts'
import { measurePages } from './pages.ts'
import { measurePayment } from './payment.ts'
import { fakeSettings, measureNotifications, measureProcessor } from './processor.ts'
import { type Result, isMet, tableOf } from './report.ts'
import { startBare, startFakeProcessor, startService } from './service.ts'
import { CALM_MB, CALM_SECONDS, measureSales } from './sales.ts'
import { measureCsv, measureSellers } from './sellers.ts'
import { measureSize } from './size.ts'
import { LIMITS, measureSignIn } from './sign-in.ts'
import type { Shop, Stage } from './stage.ts'
import { measureStart } from './start.ts'
import { hasPgbench } from './statements.ts'
import { measureStatus } from './status.ts'
import { measureWebhooks } from './webhooks.ts'
import { APP, type World, firstStart, newWorld, query } from './world.ts'

/** All parts except `size`, which takes most of an hour. */
const PARTS =
  'start,pages,checkout,status,payment,sales,processor,sign-in,keys,equal-times,mail,files,sellers,webhooks,backup'
const SIZE = 10_000_000
const RECEIPTS = 10_000
const FEW_RECEIPTS = 2_000
const EVENTS = 10_000
const FEW_EVENTS = 1_000
const USAGE = `npm run bench -- [--quick] [--fill=ORDERS] [--only=${PARTS}] [--json=FILE]
  --quick   few orders only, without the comparison with many, and ${FEW_RECEIPTS} receipts instead of ${RECEIPTS}
  --fill    how many are many (1000000)
       npm run bench -- --only=size [--orders=${SIZE}]
  --orders  how many the routes and the jobs are measured with, in thousands; each million takes about 3 GB of disk`
const FEW = 10_000
const SMALL = 'small'
const MARKET = 'market'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    fill: { type: 'string', default: '1000000' },
    only: { type: 'string', default: PARTS },
    orders: { type: 'string', default: String(SIZE) },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(USAGE)
  process.exit()
}
const many = options.quick ? FEW : Number(options.fill)
if (!(many >= FEW)) throw new Error(USAGE)
const size = Number(options.orders)
if (!(size >= FEW && size % 1000 === 0)) throw new Error(USAGE)
const wanted = new Set(options.only.split(','))
const began = Date.now()

const world = await newWorld()
let ending: Promise<void> | undefined
const end = () => (ending ??= world.end())
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void end().finally(() => process.exit(130)))
}

const results: Result[] = []
try {
  await measure(world)
  process.exitCode = results.every(isMet) ? 0 : 1
} catch (error) {
  // processes that the bench ends fail, which is expected
  if (!ending) console.error(error)
  process.exitCode = 1
} finally {
  await end()
  if (results.length > 0) console.log(tableOf(results))
  if (options.json)
    fs.writeFileSync(
      options.json,
      `${JSON.stringify(
        results.map((result) => ({ ...result, met: isMet(result) })),
        null,
        2,
      )}\n`,
    )
}

async function measure(world: World): Promise<void> {
  results.push({ name: 'first start, seconds', value: (await firstStart(world)) / 1000 })
  await world.start()
  if (options.only === 'size') {
    results.push(...(await measureSize(world, size, say)))
    return
  }
  await fill(world)
  await world.stop()
  if (wanted.has('start')) {
    say('starting')
    results.push(...(await measureStart(world)))
  }
  if (wanted.has('pages')) {
    say('the hosted page')
    results.push(...(await measurePages(world)))
  }
  await world.start()
  if (wanted.has('checkout') || wanted.has('status')) {
    await onStage(world, { PROCESSORS: 'none' }, async (stage) => {
      if (wanted.has('checkout')) results.push(...(await measureCheckout(stage)))
      if (wanted.has('status')) results.push(...(await measureStatus(stage)))
    })
  }
  if (wanted.has('payment')) {
    await onStage(world, { PROCESSORS: 'sandbox' }, async (stage) => {
      results.push(...(await measurePayment(stage)))
    })
  }
  if (wanted.has('sales')) {
    say('whole sales')
    results.push(...(await measureSales(world, world.database(APP))))
  }
  if (wanted.has('processor')) {
    const fake = await startFakeProcessor()
    await onStage(world, fakeSettings(fake), async (stage) => {
      const beside = (name: string) =>
        startService({ DATA_DIR: world.dir, DATABASE_URL: stage.busy.database.url, PROCESSORS: name })
      const without = { none: await beside('none'), sandbox: await beside('sandbox') }
      results.push(...(await measureProcessor(stage, without)))
      // they would look for each notification's mail to send, as instances of one service do
      await Promise.all(Object.values(without).map((service) => service.stop()))
      results.push(...(await measureNotifications(stage)))
    })
    await fake.stop()
  }
  for (const [part, measurePart] of Object.entries({
    'sign-in': measureSignIn,
    keys: measureKeys,
    'equal-times': measureEqualTimes,
  }))
    if (wanted.has(part))
      await onStage(world, { PROCESSORS: 'none', LIMITS }, async (stage) => {
        results.push(...[await measurePart(stage)].flat())
      })
  if (wanted.has('mail')) {
    say('receipts by mail')
    results.push(...(await measureMail(world, world.database(APP), many > FEW ? RECEIPTS : FEW_RECEIPTS)))
  }
  if (wanted.has('files')) {
    await onStage(world, { PROCESSORS: 'none' }, async (stage) => {
      results.push(...(await measureFiles(stage)))
    })
  }
  if (wanted.has('sellers')) await measureMarket(world)
  await measureWorld(world)
  say(`done; the limits are those of ${hasPgbench ? 'pgbench' : 'the driver, since there is no pgbench'}`)
}

/** The parts that start their own services. */
async function measureWorld(world: World): Promise<void> {
  if (wanted.has('webhooks')) {
    say('webhooks')
    const events = many > FEW ? EVENTS : FEW_EVENTS
    results.push(...(await measureWebhooks(world, world.database(APP), events)))
  }
  if (wanted.has('backup')) {
    say('backup')
    results.push(...(await measureBackup(world, many, say)))
  }
}

/** Sellers' searches and downloads of their orders. */
async function measureMarket(world: World): Promise<void> {
  await onStage(world, { PROCESSORS: 'none' }, async (stage) => {
    results.push(...(await measureCsv(stage)))
  })
  say(`${many} orders of ${SELLERS} sellers`)
  await query(
    world.database('postgres'),
    `create database ${MARKET} template ${many > FEW ? SMALL : APP} strategy file_copy`,
  )
  await fillSellers(world.database(MARKET), many)
  say('sellers search')
  const words = `${many.toLocaleString('en')} orders of ${SELLERS.toLocaleString('en')} sellers`
  results.push(...(await measureSellers(world, world.database(MARKET), words)))
}

/** Two databases in one server, that differ in nothing but the number of orders. */
async function fill(world: World): Promise<void> {
  const app = world.database(APP)
  say(`${FEW} orders`)
  await openShop(app)
  await fillOrders(app, 0, FEW)
  if (many <= FEW) return
  await query(world.database('postgres'), `create database ${SMALL} template ${APP} strategy file_copy`)
  say(`${many} orders`)
  await fillOrders(app, FEW, many)
}

async function onStage(
  world: World,
  env: Record<string, string>,
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  say(
    `with ${Object.entries(env)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')}`,
  )
  const names = many > FEW ? ([[SMALL, FEW], [APP, many]] as const) : ([[APP, FEW]] as const) // oxfmt-ignore
  const shops: Shop[] = []
  for (const [name, orders] of names) {
    const database = world.database(name)
    const service = await startService({ DATA_DIR: world.dir, DATABASE_URL: database.url, ...env })
    shops.push({ orders: orders.toLocaleString('en'), database, service })
  }
  const busy = shops.at(-1)!
  const bare = await startBare(busy.database.url)
  await work({ world, shops, busy, bare })
  await sleep(CALM_SECONDS * 1000)
  results.push({
    name: 'Node process when calm after that load, MB resident',
    value: await busy.service.residentMb(),
    most: CALM_MB,
  })
  await Promise.all([bare.stop(), ...shops.map(({ service }) => service.stop())])
}

function say(what: string): void {
  console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what} …`)
}
