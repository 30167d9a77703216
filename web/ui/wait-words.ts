/** A time to wait in the words of a language, such as "in 20 seconds". */
export function waitWords(locale: string, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(locale)
  const minutes = Math.ceil(seconds / 60)
  const words =
    seconds < 90
      ? format.format(seconds, 'second')
      : minutes < 90
        ? format.format(minutes, 'minute')
        : format.format(Math.ceil(minutes / 60), 'hour')
  // Arabic has "within" here, and a try within that time comes too early
  return words.replace(/^خلال/, 'بعد')
}
