// The pages take types from the server's schemas, and one file behind those imports a type of Node. Only types cross
// over: the build has no Node.
declare module 'node:*'
