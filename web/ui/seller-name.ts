/** The name that the service gives a seller who has not chosen one. */
export const UNNAMED = 'New seller'
