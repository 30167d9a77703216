export class OutOfTime extends Error {}

/** The result of `work`, or an OutOfTime when it takes longer. What was begun goes on, and nobody waits for it any more. */
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
