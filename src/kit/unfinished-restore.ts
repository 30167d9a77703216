/** The folder inside of DATA_DIR in which a restore works until it is complete. */
export const UNFINISHED = 'restoring'
