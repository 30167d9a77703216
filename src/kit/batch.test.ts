import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { batched } from './batch.ts'

const outage = new Error('the server is away')
const never = () => false

/** Work that waits until the test ends it. */
function held<In, Out>(answer: (inputs: readonly In[]) => Out[]) {
  const rounds: In[][] = []
  const waiting: (() => void)[] = []
  const run = async (inputs: readonly In[]) => {
    rounds.push([...inputs])
    await new Promise<void>((resolve) => waiting.push(resolve))
    return answer(inputs)
  }
  return { rounds, run, end: () => waiting.shift()?.() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Stops the clock. It moves on only when the test passes some milliseconds. */
function stopClock(t: TestContext): (ms: number) => void {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  return (ms) => {
    now += ms
    t.mock.timers.tick(ms)
  }
}

test('a single call runs at once', async () => {
  const rounds: number[][] = []
  const double = batched(
    async (inputs: readonly number[]) => {
      rounds.push([...inputs])
      return inputs.map((input) => input * 2)
    },
    { most: 10, atOnce: 1, isOutage: never },
  )
  const answer = double(1)
  assert.deepEqual(rounds, [[1]], 'before anything was waited for')
  assert.equal(await answer, 2)
  assert.equal(await double(2), 4)
  assert.deepEqual(rounds, [[1], [2]])
})

test('calls that arrive during a round share the next one, and each gets its own result', async () => {
  const work = held((inputs: readonly number[]) => inputs.map((input) => input * 2))
  const double = batched(work.run, { most: 3, atOnce: 1, isOutage: never })
  const answers = [1, 2, 3, 4, 5, 6].map((input) => double(input))
  for (let at = 0; at < 3; at++) {
    work.end()
    await turn()
  }
  assert.deepEqual(await Promise.all(answers), [2, 4, 6, 8, 10, 12])
  assert.deepEqual(work.rounds, [[1], [2, 3, 4], [5, 6]], 'as many as are allowed, in the order they came')
})

test('the number of simultaneous rounds is limited', async () => {
  const work = held((inputs: readonly number[]) => [...inputs])
  const same = batched(work.run, { most: 1, atOnce: 2, isOutage: never })
  const answers = [1, 2, 3, 4].map((input) => same(input))
  assert.equal(work.rounds.length, 2)
  work.end()
  await turn()
  assert.equal(work.rounds.length, 3)
  for (let at = 0; at < 3; at++) {
    work.end()
    await turn()
  }
  assert.deepEqual(await Promise.all(answers), [1, 2, 3, 4])
})

test('a round that is not full begins beside another one only when that one is slow', async (t) => {
  const pass = stopClock(t)
  const work = held((inputs: readonly number[]) => [...inputs])
  const patient = batched(work.run, { most: 9, atOnce: 2, isOutage: never, slowMs: 1e9 })
  const answers = [1, 2, 3].map((input) => patient(input))
  pass(1e9 - 1)
  assert.deepEqual(work.rounds, [[1]])
  work.end()
  await turn()
  work.end()
  assert.deepEqual(await Promise.all(answers), [1, 2, 3])
  assert.deepEqual(work.rounds.splice(0), [[1], [2, 3]])

  const hasty = batched(work.run, { most: 9, atOnce: 2, isOutage: never, slowMs: 20 })
  const more = [4, 5].map((input) => hasty(input))
  pass(19)
  assert.deepEqual(work.rounds, [[4]])
  pass(1)
  assert.deepEqual(work.rounds, [[4], [5]], 'the first round still runs')
  for (let at = 0; at < 2; at++) work.end()
  assert.deepEqual(await Promise.all(more), [4, 5])
})

/** After a first round of two: those that can wait gather for `gatherMs`. */
async function gathering(gatherMs: number) {
  const work = held((inputs: readonly number[]) => [...inputs])
  const same = batched(work.run, { most: 3, atOnce: 1, isOutage: never, gatherMs })
  const wait = (input: number) => same(input, { deferrable: true })
  const first = [wait(0), wait(1), wait(2)]
  work.end()
  await turn()
  work.end()
  await Promise.all(first)
  assert.deepEqual(work.rounds.splice(0), [[0], [1, 2]], 'a round does not wait for further inputs')
  return { ...work, same, wait }
}

test('once two inputs came together, deferrable ones gather until a round is full', async () => {
  const { rounds, wait, end } = await gathering(1e9)
  const answers = [wait(3), wait(4)]
  await turn()
  assert.deepEqual(rounds, [])
  answers.push(wait(5))
  end()
  assert.deepEqual(await Promise.all(answers), [3, 4, 5])
  assert.deepEqual(rounds, [[3, 4, 5]])
})

test('an input that cannot wait takes the deferrable ones along', async () => {
  const { rounds, same, wait, end } = await gathering(1e9)
  const answers = [wait(3), same(4)]
  assert.deepEqual(rounds, [[3, 4]])
  end()
  assert.deepEqual(await Promise.all(answers), [3, 4])
})

test('an input waits no longer than the time to gather, and a round of one input is followed at once', async (t) => {
  const pass = stopClock(t)
  const { rounds, wait, end } = await gathering(30)
  // the time counts from the start of the round before
  pass(10)
  const answer = wait(3)
  pass(19)
  assert.deepEqual(rounds, [])
  pass(1)
  assert.deepEqual(rounds, [[3]])
  end()
  assert.equal(await answer, 3)
  await turn()
  const next = wait(4)
  assert.equal(rounds.length, 2)
  end()
  assert.equal(await next, 4)
})

test('an input that waited that long for a round to end does not wait to gather', async (t) => {
  const pass = stopClock(t)
  const { rounds, same, wait, end } = await gathering(30)
  const answers = [same(3), ...[4, 5, 6, 7].map((input) => wait(input))]
  pass(30)
  for (let at = 0; at < 2; at++) {
    end()
    await turn()
  }
  assert.deepEqual(rounds, [[3], [4, 5, 6], [7]])
  end()
  await Promise.all(answers)
})

test('inputs that cannot wait do not start the gathering', async () => {
  const work = held((inputs: readonly number[]) => [...inputs])
  const same = batched(work.run, { most: 9, atOnce: 1, isOutage: never, gatherMs: 1e9 })
  const first = [same(0), same(1), same(2)]
  work.end()
  await turn()
  work.end()
  await Promise.all(first)
  await turn()
  const alone = same(3, { deferrable: true })
  assert.deepEqual(work.rounds, [[0], [1, 2], [3]])
  work.end()
  assert.equal(await alone, 3)
})

/** Answers 1 to 5, of which 3 is impossible; the first round is taken by 0. */
async function withOneImpossible(error: Error, isOutage: (error: unknown) => boolean) {
  const rounds: number[][] = []
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const same = batched(
    async (inputs: readonly number[]) => {
      rounds.push([...inputs])
      if (inputs[0] === 0) await begun
      if (inputs.includes(3)) throw error
      return [...inputs]
    },
    { most: 10, atOnce: 1, isOutage },
  )
  const answers = [0, 1, 2, 3, 4, 5].map((input) => same(input))
  begin()
  return { rounds, results: await Promise.allSettled(answers) }
}

test('an input that the database refuses does not fail the others', async () => {
  const impossible = new Error('impossible')
  const { rounds, results } = await withOneImpossible(impossible, never)
  assert.deepEqual(rounds, [[0], [1, 2, 3, 4, 5], [1], [2], [3], [4], [5]])
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason)),
    [0, 1, 2, impossible, 4, 5],
  )
})

test('while the database is down no input is tried again, which would add to the load', async () => {
  const { rounds, results } = await withOneImpossible(outage, (error) => error === outage)
  assert.deepEqual(rounds, [[0], [1, 2, 3, 4, 5]])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', ...Array(5).fill('rejected')],
  )
})

test('after a failure later inputs are served', async () => {
  let isAway = true
  const same = batched(
    async (inputs: readonly number[]) => {
      if (isAway) throw outage
      return [...inputs]
    },
    { most: 10, atOnce: 1, isOutage: () => true },
  )
  await assert.rejects(same(1), outage)
  isAway = false
  assert.equal(await same(2), 2)
})

test('beyond a thousand waiting calls, further ones are refused at once', async () => {
  let release = () => {}
  const stands = new Promise<void>((resolve) => (release = resolve))
  const options = { most: 64, atOnce: 1, isOutage: () => false }
  const ask = batched(async (inputs: readonly number[]) => (await stands, inputs), options)
  const waiting = Array.from({ length: 1001 }, (_, at) => ask(at))
  await assert.rejects(ask(1001), { code: 'database_unavailable', retryAfterSeconds: 2 })
  release()
  assert.equal((await Promise.all(waiting)).length, 1001)
})
