/** What the service calls a seller who has not chosen a name. */
export const UNNAMED = 'New seller'
