import { Refusal } from './errors.ts'

/** Where the database stands still, so many wait for it, and the rest are told at once to come back. */
const MOST_WAITING = 1000
const RETRY_AFTER_SECONDS = 2

/**
 * Requests that arrive together share one statement and one commit. Alone, nobody waits: the work starts at once. Whoever
 * comes while it is under way joins the next round.
 *
 * `run` answers in the order of its inputs. When a shared round fails, each of its members is tried alone, so one that the
 * database refuses does not take the others with it; `isOutage` names the errors for which that would only add load.
 */
export function batched<In, Out>(
  run: (inputs: readonly In[]) => Promise<readonly Out[]>,
  { most, atOnce, isOutage }: { most: number; atOnce: number; isOutage: (error: unknown) => boolean },
): (input: In) => Promise<Out> {
  interface Waiting {
    input: In
    resolve: (out: Out) => void
    reject: (error: unknown) => void
  }
  const queue: Waiting[] = []
  let underWay = 0

  async function round(members: Waiting[]): Promise<void> {
    try {
      const outs = await run(members.map((member) => member.input))
      members.forEach((member, i) => member.resolve(outs[i]!))
    } catch (error) {
      if (members.length === 1 || isOutage(error)) members.forEach((member) => member.reject(error))
      else for (const member of members) await round([member])
    }
  }

  function next(): void {
    while (underWay < atOnce && queue.length > 0) {
      underWay++
      void round(queue.splice(0, most)).finally(() => {
        underWay--
        next()
      })
    }
  }

  return (input) =>
    new Promise((resolve, reject) => {
      if (queue.length >= MOST_WAITING) {
        const more = { retryAfterSeconds: RETRY_AFTER_SECONDS }
        return reject(new Refusal('database_unavailable', 'Too many requests wait already.', more))
      }
      queue.push({ input, resolve, reject })
      next()
    })
}
