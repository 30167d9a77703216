/** A text with its values in their places: `say('Pay {price}', { price: '$4.99' })`. This file is free of Node's modules, so the pages share it. */
export const say = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))
