import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/shop.ts'
import { entriesOf } from './base.ts'

test('a folder that PostgreSQL removes while the data are listed fails no backup, and data that are gone do', async (t) => {
  const dataDir = await temporaryFolder(t)
  await fs.mkdir(path.join(dataDir, 'base', 'pgsql_tmp'), { recursive: true })
  const readdir = fs.readdir as (...args: unknown[]) => Promise<unknown>
  let looks = 0
  t.mock.method(fs, 'readdir', async (...args: unknown[]) => {
    if (looks++ > 0) return readdir(...args)
    const gone = path.join(dataDir, 'base', 'pgsql_tmp')
    await fs.rmdir(gone)
    return readdir(gone)
  })
  const paths = (await entriesOf(dataDir)).map((entry) => entry.path)
  assert.deepEqual(paths, ['base', 'pg_wal/archive_status', 'global/pg_control'])
  await assert.rejects(entriesOf(path.join(dataDir, 'gone')), { code: 'ENOENT' })
})
