/** How long a one-time code can be used. */
export const CODE_SECONDS = 600
/** After this many wrong tries a code can no longer be used. */
export const MOST_WRONG_TRIES = 5
