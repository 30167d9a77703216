import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/shop.ts'
import { type Vault, openVault } from '../kit/vault/vault.ts'
import { IDENTITY, baseData, fileName, timelineName, walName } from './names.ts'
import { rotateKeys } from './rotation.ts'

const [OLD, NEW] = ['the former key of the tests, long enough', 'the new key of the tests, long enough']
const HISTORY = walName('first', '00000002.history')
const SEGMENT = walName('first', '000000010000000000000001')
/** Larger than one chunk. */
const BYTES = Buffer.alloc(300_000, 'a file')

test('with a new key first, what retention never ends is encrypted anew, the rest is counted, and then the new key opens it alone', async (t) => {
  const folder = await temporaryFolder(t)
  const [former, both, alone] = [[OLD], [NEW, OLD], [NEW]].map((keys) => openVault({ folder }, keys)) as [Vault, Vault, Vault] // oxfmt-ignore
  await former.putJson(IDENTITY, { installation: 'one' })
  await former.putJson(timelineName('first', '00000002'), { beganAt: '2026-11-23T03:00:00Z' })
  for (const name of [fileName('file_1'), fileName('file_2'), baseData('old')]) await former.put(name, of(BYTES))
  for (const name of [HISTORY, SEGMENT]) await former.put(name, of(BYTES), { compressed: true })
  await both.put(baseData('new'), of(BYTES))
  for (const name of ['README', 'files/README']) fs.writeFileSync(path.join(folder, name), 'something else')

  assert.deepEqual(await rotateKeys(both), { renewed: 5, left: 2, damaged: [] })
  assert.deepEqual(await alone.readJson(IDENTITY), { installation: 'one' })
  assert.deepEqual(await alone.readJson(timelineName('first', '00000002')), { beganAt: '2026-11-23T03:00:00Z' })
  for (const name of [fileName('file_1'), fileName('file_2')])
    assert.deepEqual(await buffer((await alone.read(name))!), BYTES)
  assert.deepEqual(await buffer((await alone.read(HISTORY, { compressed: true }))!), BYTES)
  for (const name of [baseData('old'), SEGMENT]) await former.remove(name)
  assert.deepEqual(await rotateKeys(both), { renewed: 0, left: 0, damaged: [] })
})

test('a damaged object is named and left as it is, and the others are encrypted anew', async (t) => {
  const folder = await temporaryFolder(t)
  const [former, both] = [openVault({ folder }, [OLD]), openVault({ folder }, [NEW, OLD])]
  for (const key of ['file_1', 'file_2']) await former.put(fileName(key), of(BYTES))
  const file = path.join(folder, 'files', 'file_1')
  fs.truncateSync(file, 200_000)
  const damaged = fs.readFileSync(file)
  assert.deepEqual(await rotateKeys(both), { renewed: 1, left: 1, damaged: [fileName('file_1')] })
  assert.deepEqual(fs.readFileSync(file), damaged)
  assert.equal(await both.needsEarlierKey(fileName('file_2')), false)
})

const of = (bytes: Buffer) => Readable.from([bytes])
