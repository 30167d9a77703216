import { share } from '../kit/money.ts'
import { type Money, type Transfer, directAccount, sellerAccount } from './transfers.ts'

/** The part of a sale that stays with the seller when `returnedMinor` went back to the buyer, with its share of the fee. */
export const keptOf = ({
  saleMinor,
  feeMinor,
  returnedMinor,
}: {
  saleMinor: number
  feeMinor: number
  returnedMinor: number
}): number => {
  const goneMinor = Math.min(returnedMinor, saleMinor)
  return saleMinor - goneMinor - (feeMinor - share(feeMinor, goneMinor, saleMinor))
}

/** The processor has passed money on from our account to the seller's, so it is not owed any more. It comes back before a refund. */
export const passedOn = ({ sellerId, processor: _, ...money }: Money): Transfer[] => [
  { kind: 'passed_on', ...money, debit: sellerAccount(sellerId), credit: directAccount(sellerId) },
]
export const passedBack = ({ sellerId, processor: _, ...money }: Money): Transfer[] => [
  { kind: 'passed_back', ...money, debit: directAccount(sellerId), credit: sellerAccount(sellerId) },
]
