import { Head } from '../parts.tsx'

export default function ProductView() {
  return <Head title="Product" />
}
