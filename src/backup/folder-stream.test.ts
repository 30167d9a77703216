import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/shop.ts'
import { pack, unpack } from './folder-stream.ts'

test('a folder comes back whole, also where the system writes less at once than it is given', async (t) => {
  const [from, to] = [await temporaryFolder(t), await temporaryFolder(t)]
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
  await fs.mkdir(path.join(from, 'base'))
  await fs.writeFile(path.join(from, 'base', '1'), bytes)
  const handle = await fs.open(path.join(from, 'base', '1'))
  const { prototype } = handle.constructor as { prototype: fs.FileHandle }
  await handle.close()
  const { write } = prototype
  t.mock.method(prototype, 'write', function (this: fs.FileHandle, block: Buffer) {
    return Reflect.apply(write, this, [block, 0, Math.min(block.length, 1000)])
  })
  await unpack(pack(from, [{ path: 'base', isFolder: true }, { path: 'base/1' }]), to)
  assert(bytes.equals(await fs.readFile(path.join(to, 'base', '1'))))
})
