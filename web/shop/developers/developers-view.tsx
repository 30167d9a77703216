import './developers.css'
import './webhooks.css'
import type { VNode } from 'preact'
import { apiBase } from '../../ui/page-data.ts'
import { Head } from '../parts.tsx'
import { EndpointsSection } from './endpoints/endpoints-section.tsx'
import { ActivitySection } from './keys/activity-section.tsx'
import { SitesSection } from './sites/sites-section.tsx'
import { KeysSection } from './keys/keys-section.tsx'

/** The tools for a seller's own programs. Each section stands in a file of its own. */
export default function DevelopersView(): VNode {
  return (
    <>
      <Head title="Developers">
        <a class="link" href={`${apiBase}/api/docs`}>
          The API
        </a>
      </Head>
      <KeysSection />
      <EndpointsSection />
      <SitesSection />
      <ActivitySection />
    </>
  )
}
