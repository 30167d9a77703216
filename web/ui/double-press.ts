/** A press that follows another one within this time may be the second half of a double press: it answers nothing that the first half showed. */
export const DOUBLE_PRESS_MS = 700
