import type { Processor } from './processor.ts'

/** Which processor serves a currency: the first configured one that offers a rail for it. None: card payments are not live. */
export function processorFor(processors: ReadonlyMap<string, Processor>, currency: string): Processor | undefined {
  return [...processors.values()].find((processor) => processor.rails(currency).length > 0)
}
