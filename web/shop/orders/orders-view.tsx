import { Head } from '../parts.tsx'

export default function OrdersView() {
  return <Head title="Orders" />
}
