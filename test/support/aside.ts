import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'

/**
 * Runs the function in a thread of its own and returns its result. The runner's time limit ends only what a test waits for. It cannot
 * interrupt the thread of the tests themselves, which a slow search would hold for hours. Like a function that runs in a page, this one
 * sees only its arguments.
 */
export async function aside<Given extends unknown[], Result>(
  t: TestContext,
  work: (...given: Given) => Result | Promise<Result>,
  ...given: Given
): Promise<Result> {
  const program = `const { parentPort, workerData } = require('node:worker_threads')
    Promise.resolve((${work})(...workerData)).then((result) => parentPort.postMessage(result))`
  const thread = new Worker(program, { eval: true, workerData: given })
  t.after(() => thread.terminate())
  const [result] = (await once(thread, 'message')) as [Result]
  return result
}
