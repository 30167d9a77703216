import { Head } from '../parts.tsx'

export default function ProductsView() {
  return <Head title="Products" />
}
