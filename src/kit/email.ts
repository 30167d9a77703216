/**
 * One mailbox address. Stricter than the RFCs where their freedom only helps attackers: ASCII, one `@`, no quotes, comments, lists
 * or control characters.
 */
export const EMAIL_PATTERN =
  "^ *[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9] *$"
export const EMAIL_LONGEST = 254

/** The form in which addresses are stored and compared: trimmed and lower-cased. */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase()

/** An address that its owner recognises and a stranger cannot use: `b…@example.com`. */
export const maskedEmail = (email: string): string => email.replace(/^(.)[^@]*/u, '$1…')
