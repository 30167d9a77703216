import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../kit/errors.ts'
import type { Invoice } from './document.ts'
import { drawn } from './drawn.ts'

const invoice = (id: string, orderId = `order of ${id}`) => ({ id, orderId }) as Invoice

/** Draws when it is told to, and counts. */
function pen() {
  const begun: string[] = []
  const ends: { resolve: (pdf: Buffer) => void; reject: (error: Error) => void }[] = []
  const draw = drawn(({ id }) => {
    begun.push(id)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    ends.push({ resolve, reject })
    return promise
  })
  return { begun, ends, draw }
}
/** Lets all that is ready run. */
const turns = () => new Promise((resolve) => setImmediate(resolve))

test('requests for one document share one drawing, and later ones get it without any', async () => {
  const { begun, ends, draw } = pen()
  const all = Array.from({ length: 50 }, () => draw(invoice('one')))
  await turns()
  assert.deepEqual(begun, ['one'])
  ends[0]!.resolve(Buffer.from('pdf'))
  assert.deepEqual(new Set((await Promise.all(all)).map(String)), new Set(['pdf']))
  assert.equal(String(await draw(invoice('one'))), 'pdf')
  assert.deepEqual(begun, ['one'])
})

test('one document is drawn at a time, and one that fails neither stays nor holds up the next', async () => {
  const { begun, ends, draw } = pen()
  const [bad, good] = [draw(invoice('bad')), draw(invoice('good'))]
  await turns()
  assert.deepEqual(begun, ['bad'])
  ends[0]!.reject(new Error('no letters'))
  await assert.rejects(bad, /no letters/)
  await turns()
  ends[1]!.resolve(Buffer.from('good'))
  assert.equal(String(await good), 'good')
  const again = draw(invoice('bad'))
  await turns()
  ends[2]!.resolve(Buffer.from('bad'))
  assert.equal(String(await again), 'bad')
  assert.deepEqual(begun, ['bad', 'good', 'bad'])
})

test('too many documents that wait, or of one order, are refused, and of all only the last ones are kept', async () => {
  const isBusy = (error: unknown) => error instanceof Refusal && error.code === 'invoices_busy'
  const { begun, ends, draw } = pen()
  const ofOne = ['a', 'b', 'c', 'd'].map((id) => draw(invoice(id, 'an order')))
  await assert.rejects(draw(invoice('e', 'an order')), isBusy)
  const others = Array.from({ length: 26 }, (_, at) => draw(invoice(String(at))))
  await assert.rejects(draw(invoice('one too many')), isBusy)
  const finish = async (drawings: Promise<Buffer>[]) => {
    const whole = Promise.all(drawings)
    for (let at = 0; at < drawings.length; at += 1) {
      await turns()
      ends.at(-1)!.resolve(Buffer.from(begun.at(-1)!))
    }
    return whole
  }
  await finish([...ofOne, ...others])
  assert.equal(begun.length, 30)
  await finish(Array.from({ length: 20 }, (_, at) => draw(invoice(`later ${at}`))))
  // the ten that were asked for first are gone, and the others stay
  await draw(invoice('25'))
  assert.equal(begun.length, 50)
  const first = draw(invoice('a', 'an order'))
  await turns()
  ends.at(-1)!.resolve(Buffer.from('a'))
  await first
  assert.deepEqual([begun.length, begun.at(-1)], [51, 'a'])
})
