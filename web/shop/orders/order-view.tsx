import { Head } from '../parts.tsx'

export default function OrderView() {
  return <Head title="Order" />
}
