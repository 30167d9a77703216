export class OutOfTime extends Error {}

/** Returns the result of `work`, or throws OutOfTime after `budgetMs`. The work itself goes on after that. */
export async function inTime<T>(work: Promise<T>, budgetMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new OutOfTime(`no answer in ${budgetMs / 1000} s`)), budgetMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
