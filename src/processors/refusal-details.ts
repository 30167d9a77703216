/** The parts of a processor's refusal that may be logged: no personal data, and nothing that we sent. */
export interface RefusalDetails {
  status: number
  /** The processor's own error code. */
  code: string | undefined
  /** The name of the parameter that the processor refused. */
  parameter: string | undefined
  /** The processor's support finds the request by this id. */
  requestId: string | undefined
}

/** Lets only names through: a processor's text could repeat personal data that we sent. */
export const nameOnly = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.[\]:-]{1,100}$/.test(value) ? value : undefined
