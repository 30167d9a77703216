import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountsFor } from './account.ts'

const TILL = 'till:x:998:997::/nonexistent:/bin/false'
const PERSON = 'till:x:1001:1001:Till Berger,,,:/home/till:/bin/bash'
const POSTGRES = 'postgres:x:105:110:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash'
const BESIDES = 'till-postgres:x:996:995::/nonexistent:/usr/sbin/nologin'
const OTHERS = ['root:x:0:0:root:/root:/bin/bash', 'nottill:x:7:7::/:/bin/false', 'tiller:x:8:8::/:/bin/false']

test('root runs PostgreSQL under no account that may be a person’s', () => {
  const uids = (...lines: string[]) => accountsFor('till', [...OTHERS, ...lines, ''].join('\n')).map(({ uid }) => uid)
  assert.deepEqual(uids(), [])
  assert.deepEqual(uids(TILL), [998])
  assert.deepEqual(uids(POSTGRES, TILL), [998, 105])
  assert.deepEqual(uids(PERSON), [])
  assert.deepEqual(uids(PERSON, POSTGRES), [105])
  assert.deepEqual(uids(BESIDES, PERSON), [996])
  for (const shell of ['/bin/sh', '/usr/bin/fish', '/opt/false/sh', ''])
    assert.deepEqual(uids(`till:x:1001:1001::/home/till:${shell}`), [], shell)
  assert.deepEqual(uids('till:x:0:0::/:/bin/false'), [], 'root by another name')
})
