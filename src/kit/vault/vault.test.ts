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
