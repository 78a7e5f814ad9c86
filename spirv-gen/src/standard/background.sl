/* Puts a colour behind the picture. */
imager background(color background = 1, bgcolor = 1;)
{
    Ci += (1 - alpha) * background * bgcolor;
    Oi = 1;
    alpha = 1;
}
