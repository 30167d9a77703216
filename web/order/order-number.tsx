export const OrderNumber = ({ orderId }: { orderId: string }) => (
  <p class="small soft">
    Order number
    <br />
    <code>{orderId}</code>
  </p>
)
