import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/shop.ts'
import { openVault } from './vault.ts'

for (const size of [10, 3_000_000])
  for (const compressed of [false, true])
    test(`${size} bytes, ${compressed ? 'packed' : 'as they are'}: a place that refuses them does not keep their file open`, async (t) => {
      const folder = await temporaryFolder(t)
      const file = path.join(folder, 'file')
      fs.writeFileSync(file, randomBytes(size))
      const place = path.join(folder, 'place')
      fs.mkdirSync(place)
      const vault = openVault({ folder: place }, ['a key of the tests'])
      // no folder can be made where a file lies
      fs.writeFileSync(path.join(place, 'wal'), '')
      const bytes = fs.createReadStream(file)
      await assert.rejects(vault.put('wal/1', bytes, { compressed }))
      assert(bytes.destroyed)
      const fine = fs.createReadStream(file)
      await vault.put('files/1', fine, { compressed })
      assert(fine.destroyed)
      const stored = await vault.read('files/1', { compressed })
      assert(Buffer.concat(await stored!.toArray()).equals(fs.readFileSync(file)))
    })

for (const compressed of [false, true])
  test(`a file that is gone when it is opened, ${compressed ? 'packed' : 'as it is'}, is an error of the call, and the process goes on`, async (t) => {
    const folder = await temporaryFolder(t)
    const vault = openVault({ folder }, ['a key of the tests'])
    const gone = path.join(folder, 'sent meanwhile')
    // the folders of each object are made first, and the error comes meanwhile
    for (let n = 0; n < 20; n++) {
      const put = vault.put(`wal/${n}/a/b/c`, fs.createReadStream(gone), { compressed })
      await assert.rejects(put, { code: 'ENOENT', path: gone })
    }
  })

test('a damaged object is an error of its reader, also of one that begins late', async (t) => {
  const folder = await temporaryFolder(t)
  const vault = openVault({ folder }, ['a key of the tests'])
  await vault.put('wal/1', fs.createReadStream(import.meta.filename), { compressed: true })
  fs.truncateSync(path.join(folder, 'wal', '1'), 100)
  const stored = await vault.read('wal/1', { compressed: true })
  await new Promise((resolve) => stored!.on('close', resolve))
  await assert.rejects(stored!.toArray(), { problem: 'damaged' })
})

test('an object that another process removes while the objects are listed hides no other one', async (t) => {
  const folder = await temporaryFolder(t)
  const vault = openVault({ folder }, ['a key of the tests'])
  await vault.putJson('base/0/manifest', {})
  const over = new AbortController()
  // as the removal of old copies does it, in a process of its own
  const removing = (async () => {
    while (!over.signal.aborted) {
      for (let n = 1; n <= 20; n++) await vault.putJson(`base/${n}/manifest`, {})
      for (let n = 1; n <= 20; n++) await vault.remove(`base/${n}/manifest`)
    }
  })()
  try {
    for (let n = 0; n < 200; n++) assert.equal((await vault.list('base/'))[0], 'base/0/manifest')
  } finally {
    over.abort()
    await removing
  }
})

test('what a killed process left half written goes once it is old, with its folder, and nothing else is touched', async (t) => {
  const folder = await temporaryFolder(t)
  const vault = openVault({ folder }, ['a key of the tests'])
  await vault.putJson('base/1/manifest', {})
  const left = ['base/1/data.0a.part', 'base/2/data.0b.part', 'files/3.0c.part', 'base/4/data.0d.part']
  for (const name of left) {
    const file = path.join(folder, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, '')
    // the last one is being written
    const secondsOld = name === left.at(-1) ? 0 : 7200
    fs.utimesSync(file, Date.now() / 1000 - secondsOld, Date.now() / 1000 - secondsOld)
  }
  // as a disk of its own has it, which only root can read
  const strange = path.join(folder, 'lost+found')
  fs.mkdirSync(strange)
  fs.writeFileSync(path.join(strange, '5.0e.part'), '')
  fs.utimesSync(path.join(strange, '5.0e.part'), 0, 0)
  fs.chmodSync(strange, 0)
  await vault.removeUnfinished(['base/', 'files/', 'timelines/'], 3_600_000).finally(() => fs.chmodSync(strange, 0o700))
  const found = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  assert.deepEqual(found, [
    'base',
    'base/1',
    'base/1/manifest',
    'base/4',
    'base/4/data.0d.part',
    'files',
    'lost+found',
    'lost+found/5.0e.part',
  ])
})
