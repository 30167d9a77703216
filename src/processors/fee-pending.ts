import { ProcessorRefused } from './processor.ts'

/** The processor takes our fee some time after the payment, and has not taken it yet. */
export class FeePending extends ProcessorRefused {}
