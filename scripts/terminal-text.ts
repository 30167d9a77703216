/** A seller's text without characters that control a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')
}
