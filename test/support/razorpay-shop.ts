import { type Ends, type ShopOptions, startTestShop } from './shop.ts'
import { startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { ACCOUNT } from './razorpay-setup.ts'
import { atEnd } from './ends.ts'

/** A shop whose rupees go through Razorpay, and a server that speaks for it and notifies the shop. Both end with the test. */
export async function startRazorpayShop(t: Ends, { env = {}, ...options }: Omit<ShopOptions, 'databaseUrl'> = {}) {
  const bank = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => bank.close())
  const shop = await startTestShop(t, { ...options, env: { ...razorpaySettings(bank), ...env } })
  bank.webhookUrl = `${shop.url}/api/webhooks/razorpay`
  const rupees = () => shop.product({ currency: 'INR', priceMinor: 49_900 })
  return { shop, bank, rupees }
}

export const razorpaySettings = ({ url }: { url: string }): Record<string, string> => ({
  RAZORPAY_KEY_ID: ACCOUNT.keyId,
  RAZORPAY_KEY_SECRET: ACCOUNT.keySecret,
  RAZORPAY_WEBHOOK_SECRET: ACCOUNT.webhookSecret,
  RAZORPAY_API_URL: url,
})
