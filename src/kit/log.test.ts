import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { newId } from './ids.ts'
import { errorForLog, withoutSecretIds } from './log.ts'

test('a logged error does not contain the address it was about', () => {
  const error = new Error('all recipients were rejected: bob.smith+books@example.com (550)')
  const told = JSON.stringify(errorForLog(error))
  assert.doesNotMatch(told, /bob|example\.com/)
  assert.match(told, /all recipients were rejected: \(address\)/)
  assert.match(told, /log\.test\.ts/, 'and with the place where it happened')
})

test('an address stands in no part of a logged error, whatever sign follows it', () => {
  for (const said of [
    'no mailbox for bob@example.com.',
    '553 5.1.8 <bob@example.com>... Domain of sender does not exist',
    'bob@example.com',
    'two lines:\n    at bob@example.com, carol@localhost',
    '',
  ]) {
    const told = errorForLog(Object.assign(new Error(said), { code: 'EENVELOPE' }))
    assert.doesNotMatch(JSON.stringify(told), /bob|carol|example\.com/, said)
    assert.match(String(told.stack), /^Error: .*\n    at [^\n]*log\.test\.ts/s, 'and the place stays')
  }
  const changed = new Error('mail to bob@example.com: refused')
  changed.message = 'refused'
  assert.doesNotMatch(JSON.stringify(errorForLog(changed)), /bob/, 'the stack keeps the first message')
})

test('a logged database error names the place of the refusal, and no values of the row', () => {
  const error = new pg.DatabaseError('duplicate key value violates unique constraint "sellers_email_key"', 1, 'error')
  Object.assign(error, {
    code: '23505',
    detail: 'Key (email)=(bob@example.com) already exists.',
    where: 'unnamed portal parameter $1 = bob@example.com',
    hint: 'bob',
    constraint: 'sellers_email_key',
    table: 'sellers',
  })
  const told = errorForLog(error)
  assert.deepEqual([told.code, told.constraint, told.table], ['23505', 'sellers_email_key', 'sellers'])
  assert.doesNotMatch(JSON.stringify(told), /bob/)
})

test('a thrown value that is no error is logged too', () => {
  assert.deepEqual(errorForLog('lost'), { error: 'string', message: 'lost' })
  assert.deepEqual(errorForLog(undefined), { error: 'undefined', message: 'undefined' })
  assert.deepEqual(errorForLog({ message: 'no mail to bob@example.com' }).message, 'no mail to (address)')
})

test('no log line has a whole order id, and the order can still be found', () => {
  const id = newId('ord')
  const line = withoutSecretIds(
    JSON.stringify({ orderId: id, message: `payment of ${id}: (https://x/${id}/y)`, paymentId: newId('pay') }),
  )
  assert(!line.includes(id.slice(15)), line)
  assert.equal(JSON.parse(line).orderId, `${id.slice(0, 14)}…`)
  assert.match(JSON.parse(line).paymentId, /^pay_\w{26}$/)
})
