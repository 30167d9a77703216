import { wordsOf } from '../ui/language.ts'

export const OrderNumber = ({ orderId }: { orderId: string }) => (
  <p class="small soft">
    {wordsOf('ui').orderNumber}
    <br />
    <code>{orderId}</code>
  </p>
)
