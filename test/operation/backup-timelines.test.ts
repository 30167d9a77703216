import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { BACKUP_KEY, backUp, buy, end, runScript, sendAll } from '../support/backups.ts'
import { serviceFolder, startService } from '../support/service.ts'
import { type Ends, temporaryFolder } from '../support/shop.ts'

// A restore that went back in time begins another timeline. Both can still be restored: the one that was left, and the one since.

test('after a restore to an earlier moment, the sales since come back without a copy of their own, and so does the state that was left', async (t) => {
  const place = await temporaryFolder(t)
  const env = { SECRET: '', BACKUP_KEY, BACKUP_URL: `file:${place}` }
  const dataDir = serviceFolder(t)
  const service = await startService(t, dataDir, env)
  const kept = await buy(service)
  await backUp({ ...env, DATA_DIR: dataDir })
  const goBackTo = new Date()
  const undone = await buy(service)
  await sendAll(dataDir, place)
  await backUp({ ...env, DATA_DIR: dataDir })
  const undoneToo = await buy(service)
  const left = new Date()
  await sendAll(dataDir, place)
  await end(service)
  const copies = new Set(fs.readdirSync(path.join(place, 'base')))

  const second = await restore(t, env, goBackTo)
  const backAgain = await startService(t, second, env)
  const since = await buy(backAgain)
  await sendAll(second, place)
  await end(backAgain)
  // as if the machine were lost before its first copy was complete
  for (const name of fs.readdirSync(path.join(place, 'base')))
    if (!copies.has(name)) fs.rmSync(path.join(place, 'base', name), { recursive: true })

  const paidOf = async (at?: Date) => {
    const folder = await restore(t, env, at)
    const restored = await startService(t, folder, { ...env, BACKUP_URL: '', BACKUP_KEY: '' })
    const states = await Promise.all([kept, undone, undoneToo, since].map(({ orderId }) => restored.status(orderId)))
    await restored.kill()
    return states.map(({ body }) => body.status === 'paid')
  }
  assert.deepEqual(await paidOf(), [true, false, false, true])
  assert.deepEqual(await paidOf(new Date()), [true, false, false, true])
  assert.deepEqual(await paidOf(left), [true, true, true, false])
})

async function restore(t: Ends, env: Record<string, string>, at?: Date): Promise<string> {
  const folder = path.join(serviceFolder(t), 'elsewhere')
  const { status, out, err } = await runScript(
    'restore',
    { ...env, DATA_DIR: folder },
    at ? ['--at', at.toISOString()] : [],
  )
  assert.equal(status, 0, out + err)
  return folder
}
