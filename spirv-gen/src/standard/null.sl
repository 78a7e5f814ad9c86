/* Leaves everything as it is: the colour and opacity of the surface. */
surface null()
{
}
