import type { ServiceProcess } from './service-process.ts'

/**
 * One service for several tests, since each start takes seconds: begun when the first of them asks, and anew when one has
 * ended it.
 */
export function shared<Scene extends { readonly service: ServiceProcess }>(
  begin: (environment?: Record<string, string>) => Promise<Scene>,
): typeof begin {
  let scene: Scene | undefined
  return async (environment) => {
    if (!scene?.service.isRunning) scene = await begin(environment)
    return scene
  }
}
