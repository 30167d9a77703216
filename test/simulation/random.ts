/** Choices that one number decides: mulberry32, which needs no more state than that. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + (this.next() % (most - least + 1))
  }

  chance(share: number): boolean {
    return this.next() / 2 ** 32 < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.next() % items.length]!
  }

  /** Undefined when there is nothing to pick. */
  pickAny<T>(items: readonly T[]): T | undefined {
    return items.length > 0 ? this.pick(items) : undefined
  }

  /** One of the names, as often as its number says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let at = (this.next() / 2 ** 32) * names.reduce((sum, name) => sum + weights[name], 0)
    return names.find((name) => (at -= weights[name]) < 0) ?? names[0]!
  }

  some<T>(items: readonly T[], most: number): T[] {
    return this.shuffled(items).slice(0, this.whole(1, Math.max(1, most)))
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)
  }
}
