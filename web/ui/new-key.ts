/**
 * An idempotency key: at least 16 characters that cannot be guessed. `randomUUID` is missing where the page is not on https or localhost.
 * The letters keep the digits apart, because the service refuses a text with the number of a card.
 */
export const newKey = (): string => crypto.getRandomValues(new Uint16Array(9)).join('k')
